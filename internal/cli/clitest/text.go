package clitest

import "pgregory.net/rapid"

// AnyText draws a text that SQLite keeps, with what CSV and JSON must escape.
var AnyText = rapid.StringOf(rapid.OneOf(
	rapid.SampledFrom([]rune{',', '"', '\n', '\r', '\t', ';', ' ', '\\', 0x1b, 0x7f, 0x2028, 'é', 'a', '1'}),
	rapid.Rune()))
