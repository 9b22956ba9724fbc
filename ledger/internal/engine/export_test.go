package engine

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// DrawAndReturn draws items from the pools, and returns them after something else
// happened. It reports whether the pools had all of it.
func (c *Core) DrawAndReturn(unit budget.Unit, items []ledger.Item, meanwhile func()) bool {
	revision := c.revision.Load()
	drawn, _, covered := c.drawFromPools(unit, items, true)
	meanwhile()
	c.returnToPools(unit, items, drawn, revision)
	return covered
}
