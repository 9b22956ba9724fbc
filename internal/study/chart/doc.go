// Package chart draws the figures of the studies as SVG: pages of plots in one
// style, and maps. It imports no study. Start at Page.
package chart
