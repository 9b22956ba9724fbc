// Package cli is what the project's commands have in common: commands with their flags and
// help, exit statuses, signals, the line on the terminal that shows progress, and the
// reading of data sets.
package cli
