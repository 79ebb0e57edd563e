# The object store as a program, for tests/tool/objects*.bats and tests/fault/objects.bats.
OBJECTS_ITEMS := core/files core/conf rule base gen port/seal port/json port/http port/xml
OBJECTS_FILES := $(foreach i,$(OBJECTS_ITEMS),$(if $(filter port/%,$i),$(call PORT_FILES,$i),$(B)/lib/$i.a))
OBJECTS_LIBS := $(foreach i,$(filter port/%,$(OBJECTS_ITEMS)),$(LIBS_$(notdir $i)))

$(B)/tests/tool/objects: $(B)/tests/tool/objects.o $(OBJECTS_FILES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(KZ_CFLAGS) -o $@ $< -Wl,--start-group $(OBJECTS_FILES) -Wl,--end-group $(KZ_LDFLAGS) $(OBJECTS_LIBS)

test-programs: $(B)/tests/tool/objects
