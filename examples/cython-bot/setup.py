"""Builds the example's compiled modules against the installed locmsim."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import locmsim

setup(
    name="flatbot",
    version="1.0",
    packages=["flatbot"],
    install_requires=["locmsim"],
    ext_modules=cythonize(
        [
            Extension("flatbot._pointers", ["flatbot/_pointers.pyx"]),
            Extension(
                "flatbot._inlined",
                ["flatbot/_inlined.pyx"],
                include_dirs=[locmsim.get_include()],  # locm.h
            ),
        ],
        language_level=3,
    ),
)
