-- Commutes between blocks of seven tracts.
WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 599)
INSERT INTO od SELECT printf('11001%06d%04d', 100 * (i * 7 % 5 + 1), 1000 + i % 40), printf('11001%06d%04d', 100 * (i * i % 7 + 1), 1000 + i * 11 % 30),
  1 + i * i % 4 FROM n;
