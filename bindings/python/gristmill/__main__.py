# SPDX-License-Identifier: Apache-2.0
"""python -m gristmill: which library, which driver, which devices."""

import gristmill
from gristmill import _driver


def main():
    info = gristmill.build_info()
    print(f"gristmill {info['version']}, {gristmill.library_path()}")
    print(f"driver {_driver.file_name()}")
    try:
        for number, device in enumerate(gristmill.devices()):
            print(f"device {number}: {device}")
    except gristmill.Error as error:
        print(error)


main()
