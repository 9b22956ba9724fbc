//go:build geosql_loadable && geosql_test

package sqlite

/*
#cgo CFLAGS: -DGEOSQL_TEST
#include <stdlib.h>
*/
import "C"

import "unsafe"

// Environment returns a variable of the environment as the host has set it. Go knows only those that the process began with.
func Environment(name string) string {
	of := C.CString(name)
	defer C.free(unsafe.Pointer(of))
	return C.GoString(C.getenv(of)) // "" for a null pointer
}
