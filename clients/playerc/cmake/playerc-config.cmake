# find_package(playerc) makes the target playerc.
include("${CMAKE_CURRENT_LIST_DIR}/../playerc++/playerc++-config.cmake")
if(NOT TARGET playerc)
  add_library(playerc INTERFACE IMPORTED)
  set_target_properties(playerc PROPERTIES INTERFACE_LINK_LIBRARIES "playerc++;stdc++;m")
endif()
set(PLAYERC_INCLUDE_DIRS ${PLAYERC++_INCLUDE_DIRS})
set(PLAYERC_LIBRARIES playerc)
