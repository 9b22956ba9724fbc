//go:build !linux

package wire

import "net"

// isGone reports false: other systems have no such event, and a client that is gone is noticed when it is written to.
func isGone(net.Conn) bool { return false }
