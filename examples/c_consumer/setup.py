"""Build the module: ``python setup.py build_ext --inplace``."""

from setuptools import Extension, setup

import nardcore

setup(
    name="nardconsumer",
    version="0",
    ext_modules=[
        Extension("nardconsumer", ["nardconsumer.c"], include_dirs=[nardcore.get_include()])
    ],
)
