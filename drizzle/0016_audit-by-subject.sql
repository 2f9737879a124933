-- Every page of requests reads what was decided about its deliveries; without it each of them read all lines.
CREATE INDEX "audit_lines_of_subject" ON "collab"."audit_lines" USING btree ("subject");