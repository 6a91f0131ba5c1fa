#include "reference/engine.h"
