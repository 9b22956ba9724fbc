//go:build unix

package postgres

import "testing"

// plant is an application, or a server, that makes a mistake.
type plant struct {
	work    work
	prepare func(t testing.TB, c *crash)
}

var planted map[string]*plant
