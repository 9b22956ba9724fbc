package printabletest

import "pgregory.net/rapid"

// Any draws a text that SQLite keeps, with characters that CSV and JSON must escape.
var Any = rapid.StringOf(rapid.OneOf(
	rapid.SampledFrom([]rune{',', '"', '\n', '\r', '\t', ';', ' ', '\\', 0x1b, 0x7f, 0x2028, 'é', 'a', '1'}),
	rapid.Rune()))
