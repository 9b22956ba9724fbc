//go:build geosql_loadable

package sqlite

/*
#include "shim.h"
*/
import "C"

import "unsafe"

var load func(*Conn) error

// OnLoad sets the function that is called on each connection that loads the extension.
// It must be called in an init function: the host's first call waits for those to end.
func OnLoad(attach func(*Conn) error) { load = attach }

//export geosqlLoad
func geosqlLoad(db unsafe.Pointer, out *C.gs_result) { attachTo(db, out, load) }
