-- How noise is distributed.
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1);
--> TEXT
SELECT dx_universe('u', 0, 10, 1, 'kWh'), dx_universe('wide', -1000, 1000, 1, 'kWh');
--> TEXT, TEXT
SELECT budget_limit('*', 'm', 100000), budget_limit('*', 'm2', 100000), budget_limit('*', 'kWh', 100000), budget_limit('*', 'record', 100000);
--> TEXT, TEXT, TEXT, TEXT
CREATE TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n;

SELECT g.lat, g.lon FROM n, geoind_laplace('ana', 39.9, 116.3 + 0 * n.i, 0.01) AS g;
--> 5000 x REAL, REAL
--$ ana 50/m
--~ laplace 0.01 about 39.9 116.3
SELECT geoind_laplace('ana', 40.5, 117, 0.005) FROM n;
--> 5000 x TEXT
--$ ana 25/m
--~ laplace 0.005 about 40.5 117
SELECT geoind_laplace_l1('ana', 40.5, 117, 0.005) FROM n;
--> 5000 x TEXT
--$ ana 25/m
--~ laplace_l1 0.005 about 40.5 117
SELECT geoind_gauss('ana', 40.5, 117, 0.00005) FROM n;
--> 5000 x TEXT
--$ ana 0.25/m2
--~ gauss 0.00005 about 40.5 117
SELECT dx_centroid('ana', 40, 116 + 0 * i, 0.01) FROM n WHERE i <= 1000 GROUP BY i;
--> 1000 x TEXT
--$ ana 10/m
--~ laplace 0.01 about 40 116

WITH place(lat, lon) AS (VALUES (40.0, 116.0), (40.0, 116.0234248))
SELECT optql_store('two', optql_build(lat, lon, 1, 0.001, 1, 'beijing')) FROM place;
--> TEXT
SELECT g.lon < 116.01 FROM n, geoind_optimal('ana', 40.0, 116.0 + 0 * n.i, 'two') AS g;
--> 5000 x INTEGER
--$ ana 5/m
-- 1 / (1 + e^-d/1000), d = 2000 m
--~ chance 0.8808

SELECT dx_value('ana', 3, 0.5, 'u') FROM n;
--> 5000 x 0.0..10.0
--$ ana 2500/kWh
--~ geometric 0.5 about 3 within 0 10
SELECT dx_sum('ana', 100 + 0 * i, 0.5, 'wide') FROM n WHERE i <= 1000 GROUP BY i;
--> 1000 x REAL
--$ ana 0.5/kWh
--~ geometric 0.5 about 100
SELECT dx_sum('ana', 4 + 0 * i, 5, 'u', 'nd1') FROM n WHERE i <= 1000 GROUP BY i;
--> 1000 x 0.0..1000.0
--$ ana 5000/record
--~ geometric 0.5 about 4 within 0 1000
SELECT dx_sum('ana', 4 + 0 * i, 1.5, 'u', 'dh') FROM n WHERE i <= 1000 GROUP BY i;
--> 1000 x 0.0..1000.0
--$ ana 1500/record
--~ staircase 1.5 of 10 from 4 about 4 within 0 1000
SELECT dx_count('ana', 1) FROM n WHERE i BETWEEN 2 AND 2001 GROUP BY i / 2;
--> 1000 x INTEGER
--$ ana 2000/record
--~ geometric 1 about 2 within 0 1000
SELECT dx_median('ana', 5 + 0 * i, 1, 'u') FROM n WHERE i <= 1000 GROUP BY i;
--> 1000 x 0.0..10.0
--$ ana 1/kWh
--~ geometric 1 about 5 within 0 10

-- No two draws have anything to do with each other: of 5000 pairs of independent
-- geometric draws as many are equal as have to be.
SELECT a = b FROM (SELECT dx_value('ana', 500 + 0 * i, 1, 'wide') AS a, dx_value('ana', 500 + 0 * i, 1, 'wide') AS b FROM n LIMIT -1 OFFSET 0);
--> 5000 x INTEGER
--$ ana 10000/kWh
-- (1 - q)^2 (1 + q^2) / ((1 + q)^2 (1 - q^2)), q = e^-1
--~ chance 0.2804
