package cli

import (
	"context"
	"flag"
	"fmt"
	"strings"
)

func (p *Program) completionCommand() *Command {
	return &Command{
		Name: "completion", Operands: "bash|fish|zsh", Min: 1, Max: 1,
		Summary: "print a script by which Tab completes lines",
		Details: strings.ReplaceAll(`Once, for shells that are opened later:

  echo 'source <(PROGRAM completion bash)' >> ~/.bashrc
  echo 'autoload -U compinit && compinit && source <(PROGRAM completion zsh)' >> ~/.zshrc
  PROGRAM completion fish > ~/.config/fish/completions/PROGRAM.fish
`, "PROGRAM", p.Name),
		Setup: func(*flag.FlagSet) Run {
			return func(_ context.Context, operands []string) error { return p.printCompletion(operands[0]) }
		},
	}
}

func (p *Program) printCompletion(shell string) error {
	switch shell {
	case "bash":
		return printText(p.bashScript())
	case "fish":
		return printText(p.fishScript())
	case "zsh": // completes as bash does
		return printText("autoload -U bashcompinit && bashcompinit\n" + p.bashScript())
	}
	return UsageError("completion: the shell is bash, fish or zsh, not " + shell)
}

// completed returns the commands with lines to complete: first a line without one, and then all that have a name.
func (p *Program) completed() []*Command {
	unnamed := p.Default
	if unnamed == nil {
		unnamed = &Command{Setup: func(*flag.FlagSet) Run { return nil }}
	}
	return append([]*Command{unnamed}, p.all()...)
}

// words returns the words that an operand of a command may be, beside the name of a file.
func (p *Program) words(c *Command) (words []string) {
	switch c.Name {
	case "":
		return namesOf(p.all())
	case "help":
		return namesOf(p.Commands())
	}
	for operand := range strings.FieldsSeq(c.Operands) {
		words = append(words, choices(operand)...)
	}
	return words
}

// choices returns the words of a placeholder such as text|json. One such as DB|URL has none.
func choices(placeholder string) []string {
	if !strings.Contains(placeholder, "|") || strings.ToLower(placeholder) != placeholder {
		return nil
	}
	return strings.Split(placeholder, "|")
}

// bashFunction completes a line of PROGRAM. Flags that take a value have = and the words that it may be.
const bashFunction = `FUNCTION() {
	local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]} files=yes i word words flags value
	UNNAMED
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
COMMANDS		esac
	done
	[[ $flag == --* ]] || flag=-$flag
	value=${flags#* $flag=}
	if [[ $value != "$flags" ]]; then
		words=${value%% *}
		words=${words//|/ }
		[[ $words ]] && files=
	elif [[ $cur == -* ]]; then
		words= files=
		for word in $flags; do words+=" ${word%%=*}"; done
		[[ $cur == -[!-]* ]] && words=${words//--/-}
	fi
	COMPREPLY=()
	while IFS= read -r word; do
		COMPREPLY+=("$word")
	done < <(compgen -W "$words" -- "$cur"; [[ $files ]] && compgen -f -- "$cur")
}
complete -o filenames -F FUNCTION PROGRAM`

// bashScript returns the script for bash.
func (p *Program) bashScript() string {
	facts := func(c *Command) string {
		var flags []string
		c.flagSet().VisitAll(func(f *flag.Flag) {
			name := "--" + f.Name
			if !takesNoValue(f) {
				placeholder, _ := flag.UnquoteUsage(f)
				name += "=" + strings.Join(choices(placeholder), "|")
			}
			flags = append(flags, name)
		})
		return fmt.Sprintf("words='%s' flags=' %s '", strings.Join(p.words(c), " "), strings.Join(flags, " "))
	}
	completed := p.completed()
	var commands strings.Builder
	for _, c := range completed[1:] {
		fmt.Fprintf(&commands, "\t\t%s) %s; break ;;\n", c.Name, facts(c))
	}
	function := "_" + strings.ReplaceAll(p.Name, "-", "_")
	return strings.NewReplacer("FUNCTION", function, "PROGRAM", p.Name, "UNNAMED", facts(completed[0]), "COMMANDS", commands.String()).Replace(bashFunction)
}

// fishFunction reports whether its argument is the command on the line, or "" if there is none.
const fishFunction = `function FUNCTION
    for word in (commandline -opc)[2..]
        if contains -- $word COMMANDS
            test $word = "$argv"
            return
        end
    end
    test -z "$argv"
end
`

// fishScript returns the script for fish, which has the texts of the help too.
func (p *Program) fishScript() string {
	function := "__" + strings.ReplaceAll(p.Name, "-", "_") + "_is"
	var b strings.Builder
	b.WriteString(strings.NewReplacer("FUNCTION", function, "COMMANDS", strings.Join(namesOf(p.all()), " ")).Replace(fishFunction))
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	add := func(c *Command, completes, about string) {
		fmt.Fprintf(&b, "complete -c %s -n '%s %s' %s -d '%s'\n", p.Name, function, c.Name, completes, quote.Replace(about))
	}
	for _, c := range p.completed() {
		for _, word := range p.words(c) {
			about := ""
			if named := p.lookup(word); named != nil {
				about = named.Summary
			}
			add(c, "-a "+word, about)
		}
		c.flagSet().VisitAll(func(f *flag.Flag) {
			placeholder, usage := flag.UnquoteUsage(f)
			completes := "-l " + f.Name
			if words := choices(placeholder); words != nil {
				completes += " -x -a '" + strings.Join(words, " ") + "'"
			} else if !takesNoValue(f) {
				completes += " -r"
			}
			add(c, completes, usage)
		})
	}
	return b.String()
}
