//go:build unix

package store

// HasModes says that files have modes.
const HasModes = true
