package main

import "fmt"

const boxHeight = 64.0

// box draws a box with two lines of text.
func (c *canvas) box(x, y, width float64, colour, first, second string) {
	fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5" fill="%s" fill-opacity="0.08" stroke="%s"/>`+"\n", x, y, width, boxHeight, colour, colour)
	c.text(x+width/2, y+28, "middle", ink, first)
	c.text(x+width/2, y+48, "middle", faint, second)
}

// arrowHead is wanted once in a picture that has arrows.
func (c *canvas) arrowHead() {
	c.WriteString(`<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="` + ink + `"/></marker></defs>` + "\n")
}

func (c *canvas) arrow(x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s" fill="none" marker-end="url(#head)"/>`+"\n", x1, y1, x2, y2, ink)
}

// chainOfACharge draws the steps between a call and its answer.
func chainOfACharge() (string, error) {
	const (
		width = 184.0
		gap   = 24.0
		top   = 28.0
	)
	c := newCanvas(4*width+3*gap+40, 264, "From a call to its answer")
	c.arrowHead()
	column := func(i int) float64 { return 20 + float64(i)*(width+gap) }
	steps := [4][2]string{{"call", "account, epsilon, secret"}, {"charge", "in the ledger, on disk"}, {"draw", "with fresh entropy"}, {"answer", "leaves the database"}}
	for i, step := range steps {
		c.box(column(i), top, width, colours[0], step[0], step[1])
		if i > 0 {
			c.arrow(column(i)-gap, top+boxHeight/2, column(i), top+boxHeight/2)
		}
	}
	below := top + boxHeight + 56
	c.box(column(0), below, width, colours[1], "error", "nothing spent")
	c.box(column(1), below, width, colours[1], "refusal", "nothing spent")
	c.box(column(2), below, width, colours[1], "crash, ROLLBACK", "it stays spent")
	for i, why := range []string{"a wrong argument", "too little is left", "in between"} {
		c.arrow(column(i)+width/2, top+boxHeight, column(i)+width/2, below)
		c.text(column(i)+width/2+8, top+boxHeight+32, "start", faint, why)
	}
	c.text(20, 244, "start", faint, "The charge comes first, so that no answer is ever seen that was not paid for.")
	return c.done(), nil
}

// sealedRoles draws the people around a sealed database, and who has the key.
func sealedRoles() (string, error) {
	const (
		width  = 216.0
		gap    = 72.0
		top    = 28.0
		middle = top + boxHeight + 52
		bottom = middle + boxHeight + 52
	)
	c := newCanvas(3*width+2*gap+40, 370, "Who holds which part of a sealed database")
	c.arrowHead()
	column := func(i int) float64 { return 20 + float64(i)*(width+gap) }
	c.box(column(0), top, width, colours[2], "collectors", "public key: seal, cannot open")
	c.box(column(1), top, width, colours[2], "sealed database", "ciphertexts, public columns")
	c.box(column(2), top, width, colours[2], "anybody with the file", "sees which rows exist")
	c.box(column(1), middle, width, colours[0], "server, or owner's process", "private key, ledger")
	c.box(column(0), middle, width, colours[0], "owner", "limits, roles, erasures")
	c.box(column(1), bottom, width, colours[1], "analysts", "any SQL, no key")
	c.arrow(column(0)+width, top+boxHeight/2, column(1), top+boxHeight/2)
	c.arrow(column(1)+width, top+boxHeight/2, column(2), top+boxHeight/2)
	c.arrow(column(1)+width/2, top+boxHeight, column(1)+width/2, middle)
	c.text(column(1)+width/2+8, top+boxHeight+30, "start", faint, "values are opened inside")
	c.arrow(column(0)+width, middle+boxHeight/2, column(1), middle+boxHeight/2)
	c.arrow(column(1)+width/2, middle+boxHeight, column(1)+width/2, bottom)
	c.text(column(1)+width/2+8, middle+boxHeight+30, "start", faint, "charged answers with noise come out")
	c.text(20, 352, "start", faint, "Blue has the key. Green and brown have not, and no secret depends on them.")
	return c.done(), nil
}

// secretOfAStatement draws a statement with its secret part.
func secretOfAStatement() (string, error) {
	const (
		letter = 9.0 // the width of one
		left   = 24.0
		line   = 30.0
	)
	c := newCanvas(600, 226, "The secret of a statement, and all that is public")
	write := func(row int, parts ...string) { // every second part is secret
		x, y := left, 44+float64(row)*line
		for i, part := range parts {
			colour, width := ink, letter*float64(len(part))
			if i%2 == 1 {
				colour = colours[1]
				fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="%.1f" height="24" rx="4" fill="%s" fill-opacity="0.1"/>`+"\n", x-3, y-17, width+6, colour)
			}
			fmt.Fprintf(c, `<text x="%.1f" y="%.1f" fill="%s" font-family="monospace" textLength="%.1f" xml:space="preserve">%s</text>`+"\n", x, y, colour, width, part)
			x += width
		}
	}
	write(0, "SELECT tariff, dx_sum(meter, ", "kwh", ", 1, 'halfhour')")
	write(1, "FROM reading")
	write(2, "WHERE t LIKE '2026-01%'")
	write(3, "GROUP BY tariff ORDER BY 1 LIMIT 10")
	c.text(left, 176, "start", colours[1], "Secret: the readings that are passed to a private function.")
	c.text(left, 202, "start", faint, "Public: everything else, such as which rows exist, conditions, groups, who pays.")
	return c.done(), nil
}
