#!/bin/sh
# Compares with onnxruntime: run.sh BUILD_FOLDER [options of compare.py]. Builds the program there, and
# the first time an environment of Python with onnxruntime from PyPI (python3-venv, the network).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
cmake --build "$build" --target onnx_cases
venv=$build/onnx_venv
if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed.txt"
fi
"$venv/bin/python" "$here/activations.py" "$build/tests/onnx_cases"
"$venv/bin/python" "$here/operators.py" "$build/tests/onnx_cases"
exec "$venv/bin/python" "$here/compare.py" "$build/tests/onnx_cases" "$@"
