"""Builds the example's compiled modules against the installed locmsim."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import locmsim

setup(
    name="flatbot",
    version="1.0",
    packages=["flatbot"],
    package_dir={"": "src"},  # so that this folder does not hide what is installed
    install_requires=["locmsim"],
    ext_modules=cythonize(
        [
            Extension("flatbot._pointers", ["src/flatbot/_pointers.pyx"]),
            Extension(
                "flatbot._inlined",
                ["src/flatbot/_inlined.pyx"],
                include_dirs=[locmsim.get_include()],  # locm.h
            ),
        ],
        language_level=3,
    ),
)
