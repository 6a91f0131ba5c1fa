"""Finds a Python that has PyTorch, as `dlbench frameworks install pytorch` makes it."""
import glob
import json
import os
import subprocess
import sys

SKIPPED = 77  # What ctest shows as skipped.


def installed(pattern):
    """Newest path below dlbench's environments that fits `pattern`, or None."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    found = glob.glob(os.path.join(data, "dlbench", "environments", pattern))
    return max(found, key=os.path.getmtime) if found else None


def libtorch():
    """The installed libtorch adapter if it was built from the present sources, or None."""
    dlbench = os.environ.get("DLBENCH")
    if dlbench is None:
        return installed("libtorch@*/bin/dlbench-adapter-libtorch")
    listed = json.loads(subprocess.check_output([dlbench, "frameworks", "list", "--format", "json"])
                        .decode())
    for row in listed["frameworks"]:
        for installation in row["installed"] if row["name"] == "libtorch" else []:
            if installation["state"] == "ready":
                return os.path.join(installation["folder"], "bin", "dlbench-adapter-libtorch")
    return None


def run_with_pytorch(script):
    """Returns in a process that has PyTorch: this one, or the script started anew by an installed
    Python. Ends the process as skipped where there is none."""
    try:
        import torch  # noqa: F401
        return
    except ImportError:
        pass
    python = installed("pytorch@*/venv/bin/python")
    if python is None or os.environ.get("DLBENCH_TEST_RESTARTED"):
        print("skipped: PyTorch is not installed (dlbench frameworks install pytorch)")
        sys.exit(SKIPPED)
    os.environ["DLBENCH_TEST_RESTARTED"] = "1"
    os.execv(python, [python, "-B", os.path.abspath(script)] + sys.argv[1:])
