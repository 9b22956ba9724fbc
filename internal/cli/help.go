package cli

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
)

// helpWidth is the maximum number of characters in a line of the help.
const helpWidth = 88

func (p *Program) helpCommand() *Command {
	topics := "a " + p.Noun
	if p.Topic != nil {
		topics += " or an SQL function"
	}
	return &Command{
		Name: "help", Operands: "[NAME]", Max: 1,
		Summary: "show help on " + topics,
		Setup: func(fs *flag.FlagSet) Run {
			manual := false
			Switch(fs, "man", "print the manual page, for man -l", func() { manual = true })
			return func(_ context.Context, operands []string) error {
				if manual {
					return printText(p.manual())
				}
				return p.printHelp(operands)
			}
		},
	}
}

func (p *Program) versionCommand() *Command {
	return &Command{
		Name: "version", Summary: "print the version",
		Setup: func(*flag.FlagSet) Run {
			return func(context.Context, []string) error { return printText(p.Version) }
		},
	}
}

// helpInvocation returns the invocation that shows the help of a command, or that of the
// program if c is nil or the default command.
func (p *Program) helpInvocation(c *Command) *invocation {
	help := p.helpCommand()
	inv := &invocation{command: help, run: help.Setup(newFlagSet())}
	if c != nil && c != p.Default {
		inv.operands = []string{c.Name}
	}
	return inv
}

func printText(text string) error {
	_, err := fmt.Println(strings.TrimSuffix(text, "\n"))
	return err
}

func (p *Program) printHelp(operands []string) error {
	if len(operands) == 0 {
		return printText(p.help())
	}
	name := operands[0]
	if name == p.DefaultTopic && p.Default != nil {
		return printText(p.commandHelp(p.Default))
	}
	if c := p.lookup(name); c != nil {
		return printText(p.commandHelp(c))
	}
	if p.Topic == nil {
		return p.unknownError(name)
	}
	text, err := p.Topic(name)
	if _, unknown := err.(UsageError); unknown && p.nearest(name) != "" {
		return p.unknownError(name)
	}
	if err != nil {
		return err
	}
	return printText(text)
}

// help returns the help of the program: a line for each command, by group.
func (p *Program) help() string {
	var entries []Entry
	if p.Default != nil {
		entries = append(entries, Entry{p.usage(p.Default), p.Default.Summary})
	}
	for _, g := range append(slices.Clone(p.Groups), Group{"Help", p.own()}) {
		if g.Title != "" {
			entries = append(entries, Entry{Term: g.Title})
		}
		for _, c := range g.Commands {
			entries = append(entries, Entry{c.usage(), c.Summary})
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", p.Name, p.Summary)
	WriteEntries(&b, entries)
	b.WriteString("\n" + p.Notes)
	return b.String()
}

// usage returns the usage line of a command of the program.
func (p *Program) usage(c *Command) string { return strings.TrimSpace(p.Name + " " + c.usage()) }

// usage returns the name and the operands of the command.
func (c *Command) usage() string { return strings.TrimSpace(c.Name + " " + c.Operands) }

// commandHelp returns the help of a command, made from its flags.
func (p *Program) commandHelp(c *Command) string {
	var b strings.Builder
	b.WriteString(p.usage(c) + "\n")
	for _, line := range Wrap(c.Summary, helpWidth-4) {
		b.WriteString("    " + line + "\n")
	}
	if c.Details != "" {
		b.WriteString("\n" + strings.TrimSuffix(c.Details, "\n") + "\n")
	}
	writeFlags(&b, c)
	return b.String()
}

// writeFlags writes an empty line, and a line or more for each flag of a command, if it has any.
func writeFlags(b *strings.Builder, c *Command) {
	if entries := c.flags(); len(entries) > 0 {
		b.WriteString("\n")
		WriteEntries(b, entries)
	}
}

// flags returns the flags of a command and their meaning.
func (c *Command) flags() (entries []Entry) {
	c.flagSet().VisitAll(func(f *flag.Flag) {
		placeholder, text := flag.UnquoteUsage(f)
		name := "--" + f.Name
		if !takesNoValue(f) {
			name += " " + placeholder
		}
		if f.DefValue != "" && f.DefValue != "0" {
			text += " (default " + f.DefValue + ")"
		}
		entries = append(entries, Entry{name, text})
	})
	return entries
}

// An Entry is a term of the help and its meaning. A title has none.
type Entry struct{ Term, Text string }

// WriteEntries writes entries in two columns, below their titles. A term that is too long for
// its column gets its own line.
func WriteEntries(b *strings.Builder, entries []Entry) {
	const widest = 34
	column := 0
	for _, e := range entries {
		if len(e.Term) <= widest {
			column = max(column, len(e.Term))
		}
	}
	for _, e := range entries {
		term := e.Term
		if e.Text == "" {
			b.WriteString(term + "\n")
			continue
		}
		if len(term) > column {
			fmt.Fprintf(b, "  %s\n", term)
			term = ""
		}
		for _, line := range Wrap(e.Text, helpWidth-column-4) {
			fmt.Fprintf(b, "  %-*s  %s\n", column, term, line)
			term = ""
		}
	}
}

// Wrap breaks a text into lines of at most width characters where words allow it.
func Wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
