package cli

import "golang.org/x/sys/windows"

const errReaderLeft = windows.ERROR_NO_DATA
