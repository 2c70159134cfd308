"""Builds the compiled half against the installed locmsim; everything else is in pyproject.toml."""

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    ext_modules=cythonize(
        [Extension("ownturn._search", ["ownturn/_search.pyx"])],
        compiler_directives={"language_level": 3, "cdivision": True},
    ),
)
