"""Build the module: ``python setup.py build_ext --inplace``."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import nardcore

setup(
    name="nardcython",
    version="0",
    ext_modules=cythonize(
        [Extension("nardcython", ["nardcython.pyx"], include_dirs=[nardcore.get_include()])],
        language_level=3,
    ),
)
