//go:build !js

package exact

import (
	"crypto/rand"
	"io"
)

var system io.Reader = rand.Reader
