package frame

// Arguments of functions of several families.
var (
	ArgAccount      = &Arg{Name: "account", Is: "TEXT or INTEGER: the account that pays", Kind: Account}
	ArgLat          = &Arg{Name: "lat", Is: "latitude, degrees (secret)", Kind: SecretLatitude}
	ArgLon          = &Arg{Name: "lon", Is: "longitude, degrees (secret)", Kind: SecretLongitude}
	ArgContributor  = &Arg{Name: "account", Is: ArgAccount.Is, Kind: Contributor}
	ArgX            = &Arg{Name: "x", Is: "reading in the universe's unit (secret); moved to the nearest value of the universe", Kind: Reading}
	ArgEpsMetre     = &Arg{Name: "epsilon", Is: "distinguishability per metre", Kind: Positive, Setting: true}
	ArgDomain       = &Arg{Name: "domain", Is: "name of a domain; may be left out if only one is declared", Kind: Text, Optional: true, Setting: true}
	ArgDomainOrNull = &Arg{Name: "domain", Is: "name of a domain; NULL for the only one", Kind: OrNull(Text), Setting: true}
	ArgEpsRecord    = &Arg{Name: "epsilon", Is: "distinguishability per record", Kind: Positive, Setting: true}
	ArgUniverse     = &Arg{Name: "universe", Is: "name of a universe", Kind: Text, Setting: true}
	ArgUnit         = &Arg{Name: "unit", Is: "unit of the budget: 'm', 'm:NAME' (metres in the metric of mechanism NAME), 'm2' (rho per square metre, of geoind_gauss), 'record', 'set' (steps of pim_step), or a universe's unit", Kind: Unit}
)

// RadiusAccuracy is how radii are rounded.
const RadiusAccuracy = "rounded up to four significant digits"

// EpsilonAccuracy is how an epsilon is rounded that is accurate enough.
const EpsilonAccuracy = "rounded up to six significant digits, so that its radius is at most the one that was asked for; at least 1e-12"
