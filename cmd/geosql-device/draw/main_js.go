// Command draw is the module draw.wasm of package geosql-device: declarations, budgets and exact draws for JavaScript.
package main

import (
	"github.com/geosql/geosql/cmd/geosql-device/internal/bridge"
	"github.com/geosql/geosql/cmd/geosql-device/internal/draws"
)

func main() {
	m := draws.New(bridge.Entropy{})
	bridge.Serve(m.Functions(), m.Draw)
}
