package load

// Names by which columns with locations are found.
var (
	LatNames = []string{"lat", "latitude", "lat_deg", "start_lat"}
	LonNames = []string{"lon", "lng", "long", "longitude", "lon_deg", "start_lon", "start_lng"}
)
