//go:build !unix

package keeper

import (
	"errors"
	"os"
)

var errNotServed = errors.New("this system cannot confine the process that runs an analyst's SQL, as Linux can: serve from Linux")

// Supported returns why no sessions are served on this system, or nil.
func Supported() error { return errNotServed }

func socketPair() (ours, theirs *os.File, err error) { return nil, nil, errNotServed }
