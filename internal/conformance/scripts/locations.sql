-- Locations: both forms, optimal mechanisms, centroids.
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1);
--> TEXT
SELECT budget_limit('*', 'm', 1000);
--> TEXT

SELECT geoind_laplace('ana', 39.9, 116.3, 0.01);
--> 'POINT(116... 39...)'
--$ ana 0.01/m
SELECT lat, lon, wkt FROM geoind_laplace('ana', 39.9, 116.3, 0.01, 'beijing');
--> 39.0..41.0, 115.0..118.0, 'POINT(116... 39...)'
--$ ana 0.01/m

SELECT geoind_laplace_l1('ana', 39.9, 116.3, 0.01);
--> 'POINT(116... 39...)'
--$ ana 0.01/m
SELECT lat, lon, wkt FROM geoind_laplace_l1('ana', 39.9, 116.3, 0.01, 'beijing');
--> 39.0..41.0, 115.0..118.0, 'POINT(116... 39...)'
--$ ana 0.01/m

-- Gaussian noise is charged in m2, which no budget in m pays for.
SELECT geoind_gauss('ana', 39.9, 116.3, 0.01);
--! refused: geoind_gauss: account 'ana' has no budget in unit 'm2' (limits exist for 'm')...
SELECT budget_limit('*', 'm2', 1);
--> TEXT
SELECT geoind_gauss('ana', 39.9, 116.3, 0.01);
--> 'POINT(116... 39...)'
--$ ana 0.01/m2
SELECT lat, lon, wkt FROM geoind_gauss('ana', 39.9, 116.3, 0.01, 'beijing');
--> 39.0..41.0, 115.0..118.0, 'POINT(116... 39...)'
--$ ana 0.01/m2
SELECT geoind_gauss('ana', 39.9, 116.3, 0.99);
--! refused: geoind_gauss: account 'ana' has 0.98/m2 left of 1.00/m2, 0.99/m2 asked...
SELECT geoind_gauss('ana', NULL, 116.3, 0.01);
--> NULL

-- Without noise to speak of, the lattice point of the location itself.
SELECT * FROM geoind_laplace('bo', 39.9, 116.3, 100);
--> 39.89999..39.90001, 116.29999..116.30001, 'POINT(116... 39...)'
--$ bo 100/m

-- A location outside is moved to the box first, where it comes out.
SELECT lat, lon FROM geoind_laplace('bo', 10, 116.3, 100);
--> 39.39999..39.40001, 116.2..116.4
--$ bo 100/m

-- A NULL location answers NULL and charges nobody.
SELECT geoind_laplace('ana', NULL, 116.3, 0.01);
--> NULL
SELECT * FROM geoind_laplace('ana', 39.9, NULL, 0.01);
--> NULL, NULL, NULL

-- A row for each row.
CREATE TABLE fix(who, lat REAL, lon REAL);
INSERT INTO fix VALUES ('ana', 39.9, 116.3), ('bo', 39.95, 116.35), ('ana', NULL, NULL), (42, 40.0, 116.4);
SELECT f.who, g.lat FROM fix AS f, geoind_laplace(f.who, f.lat, f.lon, 0.01) AS g;
--> 'ana', REAL
--> 'bo', REAL
--> 'ana', NULL
--> 42, REAL
--$ ana 0.01/m, bo 0.01/m, 42 0.01/m
SELECT typeof(dx_centroid(who, lat, lon, 0.01)) FROM fix;
--> 'text'
--$ ana 0.01/m, bo 0.01/m, 42 0.01/m
SELECT budget_limit('*', 'record', 1000);
--> TEXT
SELECT h, json_array_length(h, '$.features'), json_extract(h, '$.features[2].properties.count') FROM (SELECT dx_heatmap(who, lat, lon, 200, 'beijing', 1000) AS h FROM fix LIMIT 1);
--> '{"type":"FeatureCollection","cell_m":1000,"epsilon":200,"threshold":1,"features":[{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[116.2...', 3, 1
--$ ana 200/record, bo 200/record, 42 200/record
SELECT sum(f.value ->> '$.properties.count') FROM (SELECT dx_heatmap(who, lat, lon, 200, 'beijing', 1000, 'adaptive') AS h FROM fix), json_each(h, '$.features') AS f;
--> 3
--$ ana 200/record, bo 200/record, 42 200/record
SELECT dx_heatmap(who, lat, lon, 1, NULL, 1000, 'flat') FROM fix;
--! dx_heatmap: squares must be 'adaptive', not 'flat'
SELECT dx_heatmap(who, lat, lon, 1, NULL, 0.1) FROM fix;
--! dx_heatmap: cell_m 0.1 makes a grid of ...

-- A region moves what lies outside of it to its border.
SELECT geo_domain('park', 39.4, 115.4, 41.1, 117.6, 10), geo_region('park', 'POLYGON((116 40, 116.01 40, 116.01 40.01, 116 40.01, 116 40))');
--> TEXT, TEXT
SELECT geoind_laplace('ana', 39.9, 116.3, 0.01);
--! geoind_laplace: domain ...
SELECT min(g.lat) >= 39.9999, max(g.lat) <= 40.0101, min(g.lon) >= 115.9999, max(g.lon) <= 116.0101, count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n) JOIN geoind_laplace('ana', 40.005, 116.005 + 0 * i, 0.001, 'park') AS g;
--> 1, 1, 1, 1, 100
--$ ana 0.1/m

-- The optimal mechanism on two places 2 km apart is a coin.
WITH place(lat, lon) AS (VALUES (40.0, 116.0), (40.0, 116.0234248))
SELECT optql_store('two', optql_build(lat, lon, 1, 0.001, 1, 'beijing')) FROM place;
--> TEXT
SELECT geoind_optimal('ana', 40.0, 116.0, 'two');
--> 'POINT(11... ...)'
--$ ana 0.001/m
SELECT lat, lon, wkt FROM geoind_optimal('ana', 40.0, 116.0, 'two');
--> 39.9999..40.0001, 115.9999..116.0235, TEXT
--$ ana 0.001/m
SELECT geoind_remap(geoind_optimal('ana', 40.0, 116.0, 'two'), 'two');
--> 'POINT(...)'
--$ ana 0.001/m
SELECT geoind_remap('POINT(116.01 40.0)', 'two');
--! geoind_remap: wkt ...
WITH place(lat, lon, people) AS (VALUES (40.0, 116.0, 3), (40.0, 116.0234248, 1))
SELECT prior_store('squares', prior_build(lat, lon, people, 'beijing')) FROM place;
--> TEXT
SELECT geoind_remap(39.999, 116.001, 'squares', 0.01), geoind_remap(40.001, 116.0234248, 'squares', 0.01, 'beijing'), geoind_remap(NULL, 116, 'squares', 1);
--> 'POINT(11... ...)', 'POINT(11... ...)', NULL
SELECT geoind_remap(g.lat, g.lon, 'squares', 0.005, 'beijing') FROM geoind_laplace('ana', 40.0, 116.0, 0.005, 'beijing') AS g;
--> 'POINT(11... ...)'
--$ ana 0.005/m
WITH r(t, lat, lon) AS (VALUES (0, 40.0, 116.0), (60, NULL, NULL), (120, 40.0, 116.0))
SELECT t, geoind_smooth(t, lat, lon, 0.01) OVER (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM r;
--> 0, 'POINT(116.0000000 40.0000000)'
--> 60, 'POINT(116.0000000 40.0000000)'
--> 120, 'POINT(116.0000000 40.0000000)'
SELECT geoind_smooth(1, 40.0, 116.0, 0.01);
--> 'POINT(116.0000000 40.0000000)'
SELECT geoind_smooth(t, 40.0, 116.0, 0.01) FROM (SELECT 1 AS t UNION ALL SELECT 2);
--! geoind_smooth: is a window function: ...
WITH place(lat, lon, weight, role) AS (VALUES (40.0, 116.0, 1, 'secret'), (40.0, 116.0234248, 0, 'secret'), (40.0, 116.01, 0, 'output'))
SELECT optql_store('one', optql_build(lat, lon, weight, 0.001, 1, 'beijing', 'euclid', 'squared', role)) FROM place;
--> TEXT
SELECT geoind_optimal('ana', 40.0, 116.0234248, 'one'), optql_report('one') ->> 'outputs', optql_report('one') ->> 'quality';
--> 'POINT(116.01... ...)', 1, 'squared'
--$ ana 0.001/m
SELECT geoind_optimal('ana', NULL, 116.0, 'two');
--> NULL
SELECT geoind_optimal('ana', 40.0, 116.0, 'three');
--! geoind_optimal: ...
SELECT round(geo_distance(0, 0, 0, 1), 3), geo_distance(40, 116, 40, 116), round(sqrt(2), 6), floor(ln(20));
--> 111319.491, 0.0, 1.414214, 2.0
WITH r(lat, lon) AS (VALUES (40.0, 116.0), (NULL, 116.0))
SELECT geoind_density(lat, lon, 0.05, 'park', 1000) ->> 'points', geoind_density(lat, lon, 0.05, 'park', 1000, 'gauss') ->> 'type', typeof(geoind_prior(lat, lon, 0.05, 'park')) FROM r;
--> 1, 'FeatureCollection', 'blob'
SELECT geoind_density(lat, 116.0, 0.05 * lat, 'park', 1000) FROM (SELECT 40.0 AS lat UNION ALL SELECT 41.0);
--! geoind_density: epsilon ...
SELECT geo_cell(40.005, 116.005, 1000, 'park'), geo_cell(40.005, NULL, 1000, 'park');
--> 'POLYGON((...))', NULL
SELECT json_valid(optql_report('two'));
--> 1
