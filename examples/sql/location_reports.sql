-- A location service: an app asks a provider for what is near its users without
-- telling the provider where they are.
--
--   geosql service.db < examples/sql/location_reports.sql

-- The app's own table: true positions. It never leaves the app.
CREATE TABLE position(person TEXT, lat REAL, lon REAL);
INSERT INTO position VALUES
  ('ana',  48.8540, 2.3331),
  ('bo',   48.8606, 2.3376),
  ('chen', 48.8738, 2.2950),
  ('dana', NULL,    NULL);   -- no fix: released as NULL, charged to nobody

-- Public facts: the city's frame and a lattice of one metre.
SELECT geo_domain('paris', 48.80, 2.22, 48.91, 2.48, 1);

-- Policy: within 200 m two places differ by a factor of at most 4 (a level of
-- ln 4 = 1.386), and nobody is released more often than three times at that.
SELECT geoind_epsilon(1.386, 200) AS epsilon_per_metre;
SELECT budget_limit('*', 'm', 0.0208);

-- What does that cost in accuracy? Known before anything is spent.
SELECT round(geoind_radius(0.00693, 0.95, 'paris')) AS metres_at_95_percent;

-- One private position per person, one charge each.
SELECT p.person, g.lat, g.lon
FROM position AS p, geoind_laplace(p.person, p.lat, p.lon, 0.00693) AS g;

-- What is within 300 m of a person? Ask about the released point with a radius
-- that holds the true one's surroundings 19 times out of 20. The radius is a
-- constant: one that followed the noise would give the true point away.
SELECT p.person, g.wkt AS ask_about, round(lbs_radius(0.00693, 0.95, 300, 'paris')) AS radius_m
FROM position AS p, geoind_laplace(p.person, p.lat, p.lon, 0.00693) AS g
WHERE p.person = 'ana';

-- The provider gets a view. Each time it is read, the people in it are charged.
CREATE VIEW provider_position AS
SELECT p.person, g.lat, g.lon
FROM position AS p, geoind_laplace(p.person, p.lat, p.lon, 0.00693) AS g;
SELECT * FROM provider_position WHERE person = 'bo';

-- Who has what left.
SELECT account, spent, remaining FROM ledger_balance WHERE unit = 'm' ORDER BY account;
