package shell

import (
	"os"

	"golang.org/x/term"
)

// answersProbe reports whether the terminal says where its cursor is. Windows says it of the console that standard
// output is, without a word to the terminal.
func answersProbe() (answers bool, typed string) { return term.IsTerminal(int(os.Stdout.Fd())), "" }
