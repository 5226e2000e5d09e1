# find_package(playerc++) makes the target playerc++.
get_filename_component(_playercpp_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET playerc++)
  find_package(Threads REQUIRED)
  add_library(playerc++ STATIC IMPORTED)
  set_target_properties(playerc++ PROPERTIES
    IMPORTED_LOCATION "${_playercpp_prefix}/lib/libplayerc++.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_playercpp_prefix}/include;${_playercpp_prefix}/include/playerc"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
set(PLAYERC++_INCLUDE_DIRS "${_playercpp_prefix}/include" "${_playercpp_prefix}/include/playerc")
set(PLAYERC++_LIBRARIES playerc++)
unset(_playercpp_prefix)
