package cli

import (
	"cmp"
	"fmt"
	"strings"
)

// manual returns the manual page of the program in the language of man(7), made from the same
// texts as the help.
func (p *Program) manual() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(p.Name)), roff(p.Name), roff(p.Summary))
	if p.Default != nil {
		b.WriteString(".SH SYNOPSIS\n")
		p.writeManual(&b, p.Default)
	}
	for _, g := range append(p.Groups, Group{"Help", p.own()}) {
		fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(roff(cmp.Or(g.Title, "Commands"))))
		for _, c := range g.Commands {
			p.writeManual(&b, c)
		}
	}
	b.WriteString(".SH NOTES\n" + verbatim(p.Notes))
	return b.String()
}

// writeManual writes the part of the manual page about a command.
func (p *Program) writeManual(b *strings.Builder, c *Command) {
	fmt.Fprintf(b, ".SS %s\n%s\n", roff(p.usage(c)), roff(c.Summary))
	if c.Details != "" {
		b.WriteString(verbatim(c.Details))
	}
	for _, e := range c.flags() {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(e.Term), roff(e.Text))
	}
}

// verbatim returns a paragraph that keeps its lines.
func verbatim(text string) string {
	return ".PP\n.nf\n" + roff(strings.TrimSuffix(text, "\n")) + "\n.fi\n"
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")

// roff returns a text as man(7) prints it.
func roff(text string) string {
	return strings.TrimPrefix(roffEscapes.Replace("\n"+text), "\n")
}
