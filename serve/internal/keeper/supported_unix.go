//go:build unix

package keeper

// Supported returns why no sessions are served on this system, or nil.
func Supported() error { return nil }
