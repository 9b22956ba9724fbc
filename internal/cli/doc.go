// Package cli is common to the project's programs: commands with their flags
// and help, exit statuses, signals, the progress line on the terminal, and the reading of
// data sets. It imports dataset and helpers. Start at Program and Command.
package cli
