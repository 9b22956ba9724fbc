-- Haunts of a person: somebody tells an estate agent what part of town to look in,
-- from the places that matter to them, without giving the places away.
--
--   geosql haunts.db < examples/sql/location_sets.sql

SELECT geo_domain('lyon', 45.70, 4.77, 45.82, 4.92, 1);
SELECT budget_limit('*', 'm', 0.05);

-- Secret: home, work, the school of a child, a club.
CREATE TABLE haunt(person TEXT, what TEXT, lat REAL, lon REAL);
INSERT INTO haunt VALUES
  ('ana', 'home', 45.7712, 4.8390), ('ana', 'work', 45.7606, 4.8610), ('ana', 'school', 45.7745, 4.8302), ('ana', 'club', 45.7501, 4.8422),
  ('bo', 'home', 45.7402, 4.8801), ('bo', 'work', 45.7350, 4.8605);

-- The middle of each person's places: one charge a person, however many places. Two
-- sets of places that are within d metres of each other, place by place, are told
-- apart by no more than epsilon*(d + two diagonals of a cell), here a factor of 2
-- within some 140 m.
SELECT person, dx_centroid(person, lat, lon, 0.005) AS middle FROM haunt GROUP BY person;

-- Several people together: each of them pays.
SELECT dx_centroid(person, lat, lon, 0.005) AS middle_of_all FROM haunt;

-- The whole set costs epsilon for each place, and each place is as far off as one
-- alone would be: places of one set may lie at the same spot, so that charges add up.
SELECT h.person, h.what, g.wkt FROM haunt h, geoind_laplace(h.person, h.lat, h.lon, 0.005) g WHERE h.person = 'ana';

SELECT account, spent, remaining FROM ledger_balance WHERE spent > 0;
