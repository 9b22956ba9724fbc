// Package drawtest draws texts, for the tests of whatever prints. It stands apart from printabletest since a test binary that
// is a command too would build rapid's tables whenever it is one.
package drawtest

import "pgregory.net/rapid"

// Text draws a text that SQLite keeps, with characters that CSV and JSON must escape.
var Text = rapid.StringOf(rapid.OneOf(
	rapid.SampledFrom([]rune{',', '"', '\n', '\r', '\t', ';', ' ', '\\', 0x1b, 0x7f, 0x2028, 'é', 'a', '1'}),
	rapid.Rune()))
