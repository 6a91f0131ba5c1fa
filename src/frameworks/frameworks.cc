#include "frameworks/frameworks.h"
