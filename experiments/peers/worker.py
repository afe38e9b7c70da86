"""Runs one function of a peer's file in a process of its own: worker.py MODULE FUNCTION ARGUMENTS RESULT."""

import importlib
import json
import sys
from pathlib import Path

if __name__ == "__main__":
    module, function, arguments, result = sys.argv[1:]
    output = getattr(importlib.import_module(module), function)(**json.loads(arguments))
    Path(result).write_text(json.dumps(output))
