"""Builds the compiled module against the installed locmsim; pyproject.toml has the rest."""

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    ext_modules=cythonize(
        [Extension("ownturn._search", ["src/ownturn/_search.pyx"])],
        compiler_directives={"language_level": 3, "cdivision": True},
    ),
)
