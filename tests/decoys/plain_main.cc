#include "plain_adapter.h"

int main() {
  dlbench::decoys::PlainAdapter adapter;
  return dlbench::adapter::Serve(adapter);
}
