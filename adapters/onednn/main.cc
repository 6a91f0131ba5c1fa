#include "adapter.h"

int main() {
  dlbench::onednn::OnednnAdapter adapter;
  return dlbench::adapter::Serve(adapter);
}
