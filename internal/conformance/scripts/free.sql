-- What charges nobody: on public arguments alone, and the same digits on all hosts.
SELECT geoind_epsilon(1.4, 200), geoind_epsilon(ln2, 200) FROM (SELECT 0.6931471805599453 AS ln2);
--> 0.007, 0.0034657359027997266
SELECT round(geoind_factor(0.006931471805599453, 200), 12), geoind_factor(0.01, 0), geoind_factor(0.01, 100) > exp(1);
--> 4.0, 1.0, 1
SELECT geoind_radius(0.01, 0.95), round(geoind_confidence(0.01, 474.386452), 6), lbs_radius(0.01, 0.9, 300);
--> 474.4, 0.95, 689.0
SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 10), dx_universe('u', 0, 10, 1, 'kWh');
--> TEXT, TEXT
SELECT geoind_radius(0.01, 0.95, 'beijing') - geoind_radius(0.01, 0.95) BETWEEN 7 AND 8;
--> 1
SELECT dx_radius('sum', 0.95, 1, 'u'), dx_radius('avg', 0.95, 1, 'u', 'd1', 10), dx_radius('median', 0.95, 1, 'u', 'dinf');
--> 3.0, 0.3001, 3.0
SELECT dx_radius('median', 0.95, 1, 'u', 'dh');
--! dx_radius: ...
SELECT dx_epsilon_for('sum', 1, 0.95, 'u'), dx_radius('sum', 0.95, dx_epsilon_for('sum', 1, 0.95, 'u'), 'u');
--> 1.76547, 1.0
SELECT dx_radius('avg', 0.95, dx_epsilon_for('avg', 0.5, 0.95, 'u', 'dh', 1000), 'u', 'dh', 1000) <= 0.5;
--> 1
SELECT dx_epsilon_for('median', 1, 0.95, 'u', 'dh');
--! dx_epsilon_for: ...
SELECT geoind_epsilon_for(474.386452, 0.95), geoind_radius(geoind_epsilon_for(500, 0.95, 'beijing', 'laplace_l1'), 0.95, 'beijing', 'laplace_l1') BETWEEN 499.99 AND 500;
--> 0.01, 1
SELECT geoind_epsilon_for(7, 0.95, 'beijing');
--! geoind_epsilon_for: radius_m must be at least ...
SELECT geoind_rho(1, 0.000001, 500), round(geoind_delta(0.5, 1, 3), 12), geoind_radius(0.005, 0.95, NULL, 'gauss');
--> 0.0000000974238, 0.005143184064, 24.48
SELECT geoind_delta(geoind_rho(1, 0.000001, 501.4143), 501.4143, 1) BETWEEN 0.00000099 AND 0.000001;
--> 1
SELECT geoind_rho(1, 0.000001, 501.4143, 'gauss', 1), round(geoind_delta(0.000000111426, 501.4143, 1, 'gauss', 1), 12), round(geoind_delta(0.000000111426, 501.4143, 1, 'gauss'), 12);
--> 0.000000111426, 0.000000999942, 0.00000160782
SELECT geoind_rho(1, 0.000001, 1000000);
--! geoind_rho: distance_m is too large...
SELECT dx_radius('median', 0.95, 1, 'u', 'd1/noise') = dx_radius('value', 0.95, 1, 'u');
--> 1
SELECT dx_radius('median', 0.95, 1, 'u', 'd1/window');
--! dx_radius: ...
SELECT dx_epsilon_for('median', 1, 0.95, 'u', 'd1/window');
--! dx_epsilon_for: ...
SELECT dx_rank_radius(0.95, 1, 'u', 'min') = dx_rank_radius(0.95, 1, 'u');
--> 1
SELECT dx_rank_radius(0.95, 1, 'u', 'sum');
--! dx_rank_radius: aggregate sum has no rank
SELECT dx_rank_radius(0.95, 1, 'u');
--> INTEGER
SELECT dx_curve_percentile('{"m":4,"lo":0,"hi":10,"step":1,"epsilon":1,"edges":[0,2,4],"sums":[3,7]}', 50);
--> 3.0
SELECT dx_curve_mean('{"m":4}', 0, 100);
--! dx_curve_mean: curve is no release of dx_curve: field 'edges' is missing
SELECT geosql_version() = substr(geosql_debug(), 8, length(geosql_version()));
--> 1
SELECT geosql_debug() LIKE 'geosql %, SQLite ' || sqlite_version() || ',%';
--> 1
SELECT geosql_help('dx_sum') LIKE 'dx_sum(account, x, epsilon, universe%';
--> 1
SELECT geosql_help('dx_summ');
--! geosql_help: ...
SELECT round(cip_loss('[0,1,2,3,4,5,6,7,8,9]', '{"kernel":"rbf","variance":1,"length_scale":1,"radius":1,"lambda":2,"family":"every-other","sigma2":1}'), 5);
--> REAL
SELECT round(cip_sigma('[0,300,600]', '{"kernel":"rbf","variance":1000000,"length_scale":600,"radius":100,"lambda":2,"family":"singles","epsilon":1}'));
--> REAL
SELECT count(*) FROM ledger_balance;
--> 0
