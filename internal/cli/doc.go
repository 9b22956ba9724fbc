// Package cli is common to the project's programs: commands with their flags
// and help, exit statuses, signals, the progress line on the terminal, and the reading of
// data sets.
package cli
