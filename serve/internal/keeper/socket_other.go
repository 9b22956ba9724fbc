//go:build !unix

package keeper

import (
	"errors"
	"os"
)

var errNotServed = errors.New("this system does not hold what an analyst's SQL runs in to little, as Linux does: serve from Linux")

// Supported returns why no sessions are served on this system, or nil.
func Supported() error { return errNotServed }

func socketPair() (ours, theirs *os.File, err error) { return nil, nil, errNotServed }
