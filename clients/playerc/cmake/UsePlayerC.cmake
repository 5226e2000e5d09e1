# PLAYER_ADD_PLAYERC_CLIENT(NAME SOURCES file... [INCLUDEDIRS dir...] [LIBDIRS dir...]
# [LINKFLAGS flag...] [CFLAGS flag...]) makes a program that uses libplayerc.
include("${CMAKE_CURRENT_LIST_DIR}/../../../lib/cmake/playerc/playerc-config.cmake")

macro(PLAYER_ADD_PLAYERC_CLIENT _name)
  cmake_parse_arguments(_client "" "" "SOURCES;INCLUDEDIRS;LIBDIRS;LINKFLAGS;CFLAGS" ${ARGN})
  add_executable(${_name} ${_client_SOURCES} ${_client_UNPARSED_ARGUMENTS})
  target_include_directories(${_name} PRIVATE ${_client_INCLUDEDIRS})
  separate_arguments(_client_CFLAGS)
  target_compile_options(${_name} PRIVATE ${_client_CFLAGS})
  foreach(_dir ${_client_LIBDIRS})
    target_link_libraries(${_name} "-L${_dir}")
  endforeach()
  target_link_libraries(${_name} playerc ${_client_LINKFLAGS})
endmacro()
