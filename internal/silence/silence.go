// Package silence ends connections of TCP to machines that say nothing any more, not even that they have received something.
// It imports nothing of geosql's. Start at KeepAlive and Limit.
package silence

import (
	"net"
	"time"
)

// KeepAlive returns the settings with which an idle connection lasts so long without a word.
func KeepAlive(most time.Duration) net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: most / 2, Interval: most / 4, Count: 2}
}
