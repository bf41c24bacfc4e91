-- The priority that the origin lists, if an operator set another one; else NULL.
ALTER TABLE episode ADD COLUMN listed_priority INTEGER;
ALTER TABLE clip ADD COLUMN listed_priority INTEGER;
