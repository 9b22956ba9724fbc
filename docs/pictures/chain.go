package main

import "fmt"

// chainOfACharge draws the steps between a call and its answer.
func chainOfACharge() (string, error) {
	const (
		width, height = 184.0, 64.0
		gap           = 24.0
		top           = 28.0
	)
	c := newCanvas(4*width+3*gap+40, 264, "From a call to its answer")
	box := func(x, y float64, colour, first, second string) {
		fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5" fill="%s" fill-opacity="0.08" stroke="%s"/>`+"\n", x, y, width, height, colour, colour)
		c.text(x+width/2, y+28, "middle", ink, first)
		c.text(x+width/2, y+48, "middle", faint, second)
	}
	arrow := func(x1, y1, x2, y2 float64) {
		fmt.Fprintf(c, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" fill="none" marker-end="url(#head)"/>`+"\n", x1, y1, x2, y2, ink)
	}
	c.WriteString(`<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="` + ink + `"/></marker></defs>` + "\n")
	column := func(i int) float64 { return 20 + float64(i)*(width+gap) }
	steps := [4][2]string{{"call", "account, epsilon, secret"}, {"charge", "in the ledger, on disk"}, {"draw", "with fresh entropy"}, {"answer", "leaves the database"}}
	for i, step := range steps {
		box(column(i), top, colours[0], step[0], step[1])
		if i > 0 {
			arrow(column(i)-gap, top+height/2, column(i), top+height/2)
		}
	}
	below := top + height + 56
	box(column(0), below, colours[1], "error", "nothing spent")
	box(column(1), below, colours[1], "refusal", "nothing spent")
	box(column(2), below, colours[1], "crash, ROLLBACK", "it stays spent")
	for i, why := range []string{"a wrong argument", "too little is left", "in between"} {
		arrow(column(i)+width/2, top+height, column(i)+width/2, below)
		c.text(column(i)+width/2+8, top+height+32, "start", faint, why)
	}
	c.text(20, 244, "start", faint, "The charge comes first, so that no answer is ever seen that was not paid for.")
	return c.done(), nil
}
