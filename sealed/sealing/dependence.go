package sealing

// A Dependence says what a public column tells of a sealed one, or of whole rows.
type Dependence struct {
	Text string // a line
	Note bool   // whether there is nothing to confirm
}

// Dependences returns what public columns tell.
func (c *Contents) Dependences() []Dependence { return nil }
