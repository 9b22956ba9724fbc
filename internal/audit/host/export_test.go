package host

// For tests that audit, which this package cannot import.
var (
	NewExtensionOf = newExtension
	NewServerOf    = newServer
)
